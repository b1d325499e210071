/** The same list as both feeds, for the description. */

export const jsonFeedExample = {
  version: "https://jsonfeed.org/version/1.1",
  title: "Trending: United Kingdom",
  language: "en",
  _trendvault: {
    region: "GB",
    window: "day",
    category: null,
    generation: 4711,
    generated_at: "2026-11-20T10:00:00Z",
  },
  items: [
    {
      id: "urn:uuid:b288b8c4-5301-5f65-936f-681b0777b377",
      url: "https://site.example/watch/GJ5N-98zdlw",
      title: "How a lighthouse works",
      content_text: "1. 67,431 views an hour",
      image: "https://thumbs.example/GJ5N-98zdlw/hq.webp",
      date_published: "2026-11-20T08:07:48Z",
      authors: [{ name: "Harbour Films" }],
      tags: ["Science & Technology"],
      _trendvault: { video: "GJ5N-98zdlw", rank: 1, previous_rank: 4 },
    },
  ],
};

export const atomFeedExample = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
  <id>urn:uuid:c07897e3-de70-52fc-bb1e-3e1c97e2dce4</id>
  <title>Trending: United Kingdom</title>
  <updated>2026-11-20T10:00:00Z</updated>
  <link rel="self" href="/feeds/GB.atom" type="application/atom+xml"/>
  <entry>
    <id>urn:uuid:b288b8c4-5301-5f65-936f-681b0777b377</id>
    <title type="text">How a lighthouse works</title>
    <updated>2026-11-20T08:07:48Z</updated>
    <published>2026-11-20T08:07:48Z</published>
    <author><name>Harbour Films</name></author>
    <link rel="alternate" href="https://site.example/watch/GJ5N-98zdlw"/>
    <summary type="text">1. 67,431 views an hour</summary>
  </entry>
</feed>
`;
