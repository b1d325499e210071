/** The regions of a deployment that names none of its own. A bundler may put another file in this place: the edge's does. */
export { default } from "../db/regions.json" with { type: "json" };
