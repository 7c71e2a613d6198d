const DEFAULT_PER_PAGE = 25

type PageParams = { page?: number; per_page?: number }

/** SQL bounds of a page (docs/design/api.md#pagination). */
export function toPageBounds(query: PageParams): { limit: number; offset: number } {
  const limit = query.per_page ?? DEFAULT_PER_PAGE
  return { limit, offset: ((query.page ?? 1) - 1) * limit }
}

/** `meta` of a list of `total` records. */
export function buildPageMeta(query: PageParams, total: number) {
  const perPage = query.per_page ?? DEFAULT_PER_PAGE
  return { page: query.page ?? 1, per_page: perPage, total, total_pages: Math.ceil(total / perPage) }
}

/** `meta` of a list that returns everything because no page was requested: one page that is large enough. */
export const buildFullPageMeta = (total: number) =>
  buildPageMeta({ per_page: Math.max(DEFAULT_PER_PAGE, total) }, total)
