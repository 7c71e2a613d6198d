import { formatNumber } from '../../core/format.ts'

type PageMeta = { page: number; per_page: number; total: number; total_pages: number }

/** The position in a list of several pages, and the links to the pages next to it. Nothing for a single page. */
export function Pager({
  meta: { page, per_page: size, total, total_pages: pages },
  what,
  buildPath,
}: {
  meta: PageMeta
  /** what the list contains, such as `incidents` */
  what: string
  /** the address of another page of the list */
  buildPath(page: number): string
}) {
  if (pages <= 1 && page === 1) return null
  const first = Math.min((page - 1) * size + 1, total)
  const last = Math.min(page * size, total)
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      {page > 1 && (
        <a href={buildPath(page - 1)} rel="prev">
          Previous
        </a>
      )}
      <span class="soft">
        {page > pages ? 'No more' : `${formatNumber(first)}–${formatNumber(last)} of ${formatNumber(total)}`} {what}
      </span>
      {page < pages && (
        <a href={buildPath(page + 1)} rel="next">
          Next
        </a>
      )}
    </nav>
  )
}
