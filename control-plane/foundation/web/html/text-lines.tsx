/** Each is an element, which takes much longer to render than a character. */
const MAX_LINE_BREAKS = 200

/** A text whose line breaks are shown. Those after the first 200 become spaces. */
export function TextLines({ text }: { text: string }) {
  const lines = text.split('\n')
  const rest = lines.splice(MAX_LINE_BREAKS)
  if (rest.length > 0) lines.push(rest.join(' '))
  return <>{lines.flatMap((line, i) => (i === 0 ? [line] : [<br />, line]))}</>
}
