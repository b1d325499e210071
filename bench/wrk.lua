-- Tells wrk what to ask and how to report. With an argument, a file of lines "target<TAB>accept-encoding"
-- is asked for line by line; without one, the URL of the command line is.
local requests = {}
local asked = 0

function init(arguments)
  if not arguments[1] then
    return
  end
  for line in io.lines(arguments[1]) do
    local target, encoding = line:match("^(.-)\t(.*)$")
    requests[#requests + 1] = wrk.format("GET", target, { ["Accept-Encoding"] = encoding })
  end
  function request()
    asked = asked % #requests + 1
    return requests[asked]
  end
end

function done(summary, latency)
  local errors = summary.errors
  local figures = {
    requests = summary.requests,
    microseconds = summary.duration,
    bytes = summary.bytes,
    errors = errors.connect + errors.read + errors.write + errors.timeout + errors.status,
    p50 = latency:percentile(50),
    p95 = latency:percentile(95),
    p99 = latency:percentile(99),
    max = latency.max,
  }
  local parts = {}
  for name, value in pairs(figures) do
    parts[#parts + 1] = string.format('"%s":%d', name, value)
  end
  io.write("figures {", table.concat(parts, ","), "}\n")
end
