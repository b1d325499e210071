/** The cache of the pages and assets that are shown without a network. Another form of it needs another name. */
export const offlineCache = "trendvault-1";
