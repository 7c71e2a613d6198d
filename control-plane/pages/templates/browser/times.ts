const TIME = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const
const DAY = { day: 'numeric', month: 'short' } as const

/** Formats times in the reader's time zone. Without JavaScript they are in UTC and marked as such. */
export function localizeTimes(root: ParentNode): void {
  const moment = new Intl.DateTimeFormat('en-GB', { ...DAY, ...TIME })
  const time = new Intl.DateTimeFormat('en-GB', TIME)
  for (const element of root.querySelectorAll<HTMLTimeElement>('time:not([data-day], [data-iso])')) {
    const at = new Date(element.dateTime)
    const { since } = element.dataset
    const isShort = since !== undefined && new Date(since).toDateString() === at.toDateString()
    element.title = element.dateTime
    element.textContent = (isShort ? time : moment).format(at)
  }
}
