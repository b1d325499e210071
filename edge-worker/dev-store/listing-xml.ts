const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A listing as ListObjectsV2 of S3 writes it. */
export function listingXml(listed: R2Objects): string {
  const contents = listed.objects.map(
    ({ key, uploaded, httpEtag, size }) =>
      `<Contents><Key>${escapeXml(key)}</Key><LastModified>${uploaded.toISOString()}</LastModified>` +
      `<ETag>${escapeXml(httpEtag)}</ETag><Size>${size}</Size></Contents>`,
  );
  const token = listed.truncated
    ? `<NextContinuationToken>${escapeXml(listed.cursor)}</NextContinuationToken>`
    : "";
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
    `<IsTruncated>${listed.truncated}</IsTruncated><KeyCount>${listed.objects.length}</KeyCount>` +
    `${token}${contents.join("")}</ListBucketResult>`
  );
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? "");
}
