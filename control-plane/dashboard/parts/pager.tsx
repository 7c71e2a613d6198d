type Meta = { page: number; per_page: number; total: number }

/** Links to the pages before and after. The other parameters of the address stay. */
export function Pager({
  path,
  search,
  meta,
  fragment,
}: {
  path: string
  search: URLSearchParams
  meta: Meta
  fragment?: string
}) {
  const { page, per_page: size, total } = meta
  if (total <= size && page === 1) return null
  const buildAddress = (number: number) => {
    const next = new URLSearchParams(search)
    next.set('page', String(number))
    return `${path}?${next}${fragment ? `#${fragment}` : ''}`
  }
  const first = (page - 1) * size + 1
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && (
        <a href={buildAddress(page - 1)} rel="prev">
          Previous
        </a>
      )}
      <span class="soft">
        {first.toLocaleString('en')} to {Math.min(total, page * size).toLocaleString('en')} of{' '}
        {total.toLocaleString('en')}
      </span>
      {page * size < total && (
        <a href={buildAddress(page + 1)} rel="next">
          Next
        </a>
      )}
    </nav>
  )
}
