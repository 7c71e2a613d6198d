const DEFAULT_PER_PAGE = 25

/** The parameters of a paginated list, as a client sends them. */
export type PageParams = { page?: number; per_page?: number }

/** The part of a list that a page contains. */
export type PageBounds = { limit: number; offset: number }

/** SQL bounds of a page (docs/design/api.md#pagination). */
export function toPageBounds(query: PageParams): PageBounds {
  const limit = query.per_page ?? DEFAULT_PER_PAGE
  return { limit, offset: ((query.page ?? 1) - 1) * limit }
}

/** One page of records that are all in memory; all of them without bounds. */
export function slicePage<T>(records: readonly T[], bounds: PageBounds | null): { data: readonly T[]; total: number } {
  const { limit, offset } = bounds ?? { limit: records.length, offset: 0 }
  return { data: records.slice(offset, offset + limit), total: records.length }
}

/** `meta` of a list of `total` records. */
export function buildPageMeta(query: PageParams, total: number) {
  const perPage = query.per_page ?? DEFAULT_PER_PAGE
  return { page: query.page ?? 1, per_page: perPage, total, total_pages: Math.ceil(total / perPage) }
}

/** `meta` of a list that returns everything because no page was requested: one page that is large enough. */
export const buildFullPageMeta = (total: number) =>
  buildPageMeta({ per_page: Math.max(DEFAULT_PER_PAGE, total) }, total)
