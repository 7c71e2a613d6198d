import { formatNumber } from '../../../core/format.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { type BulkResult, describeFieldChange, orderItems } from './change-words.ts'

const MAX_SHOWN = 200

/** What changes of each monitor, or why it is refused: the refused ones first. */
export function ResultList({ result, channels }: { result: BulkResult; channels: ReadonlyMap<string, string> }) {
  const { timeZone } = useFrame()
  const items = orderItems(result.items)
  const more = items.length - MAX_SHOWN
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys must reach it */}
      <section class="scroll results" tabIndex={0} aria-label="Result for each monitor">
        <table>
          <thead>
            <tr>
              <th scope="col">Monitor</th>
              <th scope="col">{result.dry_run ? 'What changes' : 'Result'}</th>
            </tr>
          </thead>
          <tbody>
            {items.slice(0, MAX_SHOWN).map(({ monitor_id, name, changes, error }) => (
              <tr key={monitor_id}>
                <td dir="auto">{name ?? 'unknown'}</td>
                <td class={error ? 'wrong' : changes.length === 0 ? 'soft' : undefined}>
                  {error ? `Refused: ${error.message}` : null}
                  {!error && changes.length === 0 && 'Stays as it is'}
                  {changes.map(change => (
                    <div key={change.field} dir="auto">
                      {describeFieldChange(change, channels, timeZone)}
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more > 0 && <p class="soft small">And {formatNumber(more)} more.</p>}
    </>
  )
}
