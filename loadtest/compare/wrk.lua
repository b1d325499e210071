-- Tells wrk what to request and how to report. Its argument is a file of lines "target<TAB>accept-encoding", which are
-- requested in turn; without it wrk requests the URL of the command line. All get the header fields of the command line.
local requests = {}
local sent = 0

local function read_mix(file)
  for line in io.lines(file) do
    local target, encoding = line:match("^(.-)\t(.*)$")
    local fields = { ["Accept-Encoding"] = encoding }
    for name, value in pairs(wrk.headers) do
      fields[name] = value
    end
    requests[#requests + 1] = wrk.format("GET", target, fields)
  end
end

function init(arguments)
  if not arguments[1] then
    return
  end
  read_mix(arguments[1])
  function request()
    sent = sent % #requests + 1
    return requests[sent]
  end
end

function done(summary, latency)
  local errors = summary.errors
  local figures = {
    requests = summary.requests,
    ["req/s"] = summary.requests / (summary.duration / 1e6),
    bytes = summary.bytes,
    -- of connections, timeouts, and statuses from 400
    errors = errors.connect + errors.read + errors.write + errors.timeout + errors.status,
    ["p50 ms"] = latency:percentile(50) / 1000,
    ["p95 ms"] = latency:percentile(95) / 1000,
    ["p99 ms"] = latency:percentile(99) / 1000,
    ["max ms"] = latency.max / 1000,
  }
  local parts = {}
  for name, value in pairs(figures) do
    parts[#parts + 1] = string.format('"%s":%.14g', name, value)
  end
  io.write("figures {", table.concat(parts, ","), "}\n")
end
