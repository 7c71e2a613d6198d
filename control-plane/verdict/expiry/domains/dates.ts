const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const TIME = String.raw`(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?)?`
const ZONE = String.raw`\s*(Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?`
const YEAR_FIRST = new RegExp(
  String.raw`^(\d{4})(?:[-/.]\s?)?(\d{2}|[A-Za-z]{3}|\d)(?:[-/.]\s?)?(\d{1,2})\.?(?!\d)${TIME}${ZONE}`,
)
const DAY_FIRST = new RegExp(String.raw`^(\d{1,2})[-/. ](\d{1,2}|[A-Za-z]{3})[A-Za-z]*[-/. ](\d{4})${TIME}${ZONE}`)

/**
 * A date as registries write it: `2027-09-14T04:00:00Z`, `20270914`, `2027. 09. 14.`, `2027-Aug-14`, `14-Sep-2027`,
 * `14.9.2027 12:00:00`. Defaults: midnight, UTC. Null for other texts, for days that do not exist, and for years before
 * 1990 or after 2200. `03/09/2027` is in September: the registries that write slashes put the day first.
 */
export function parseRegistryDate(text: string): Date | null {
  const first = YEAR_FIRST.exec(text)
  if (first) return buildDate(first[1], first[2], first[3], first)
  const last = DAY_FIRST.exec(text)
  return last ? buildDate(last[3], last[2], last[1], last) : null
}

function buildDate(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  [, , , , hours, minutes, seconds, zone]: RegExpExecArray,
): Date | null {
  const monthNumber = /\d/.test(month ?? '') ? Number(month) : MONTHS.indexOf((month ?? '').toLowerCase()) + 1
  const at = Date.UTC(
    Number(year),
    monthNumber - 1,
    Number(day),
    Number(hours ?? 0),
    Number(minutes ?? 0),
    Number(seconds ?? 0),
  )
  const isReal =
    monthNumber >= 1 && monthNumber <= 12 && Number(day) >= 1 && Number(day) <= countDays(year, monthNumber)
  const isPlausibleYear = Number(year) >= 1990 && Number(year) <= 2200
  return isReal && isPlausibleYear && Number.isFinite(at) ? new Date(at - parseOffsetMs(zone)) : null
}

/** The number of days of a month, 1 to 12. */
const countDays = (year: string | undefined, month: number) => new Date(Date.UTC(Number(year), month, 0)).getUTCDate()

function parseOffsetMs(zone: string | undefined): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '') ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0)) * 60_000
}
