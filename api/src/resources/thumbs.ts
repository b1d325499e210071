/** What an address of a picture ends with: a base that ends so is a picture itself, and has one size. */
const picture = /[^/:]\/.*\.(?:jpe?g|png|webp|avif|gif)$/i;

/** The pictures of a video, the larger one first, from its `thumb_base`. */
export function thumbsOf(base: string): [string, string] {
  return picture.test(base) ? [base, base] : [`${base}/hq.webp`, `${base}/sd.webp`];
}
