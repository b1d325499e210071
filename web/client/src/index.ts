export type { Client } from "../generated/client/index.ts";
export {
  countViews,
  explainRank,
  listPublicKeys,
  listRegions,
  listTrending,
  readMaking,
  readVideo,
} from "../generated/sdk.gen.ts";
export type * from "../generated/types.gen.ts";
export { type AllOptions, allItems, allPages } from "./all-pages.ts";
export { connect } from "./connect.ts";
export { answerOf, isProblem, ProblemError, type ProblemType } from "./problem-error.ts";
export type { Answer, Check } from "./requests/checked-send.ts";
export {
  type Fields,
  type PageOf,
  type RequestOptions,
  type TrendingOptions,
  trending,
  trendingAt,
} from "./trending.ts";
