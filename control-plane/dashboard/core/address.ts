/** An address of the dashboard with a query. Parameters without a value are left out. */
export function buildAddress(path: string, parameters: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value))
  }
  const query = search.toString()
  return query === '' ? path : `${path}?${query}`
}

/** The address of a page with other parameters: those that are not named stay, null removes one. */
export const changeAddress = (
  path: string,
  search: URLSearchParams,
  changes: Record<string, string | number | null>,
): string => buildAddress(path, { ...Object.fromEntries(search), ...changes })

/** The page of a list that an address asks for: from 1, also when the value is not a number. */
export function parsePage(search: URLSearchParams): number {
  const page = Number(search.get('page') ?? 1)
  return Number.isInteger(page) && page > 0 ? page : 1
}
