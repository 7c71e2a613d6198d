/** A text whose line breaks are shown. */
export const TextLines = ({ text }: { text: string }) => (
  <>{text.split('\n').flatMap((line, i) => (i === 0 ? [line] : [<br />, line]))}</>
)
