/** Writes instants in the reader's own time zone. Without this they stand there in UTC, and say so. */
export function localizeTimes(root: ParentNode): void {
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  })
  for (const time of root.querySelectorAll<HTMLTimeElement>('time:not([data-day], [data-iso])')) {
    time.title = time.dateTime
    time.textContent = format.format(new Date(time.dateTime))
  }
}
