import { Scroll } from '../../../parts/layout/section.tsx'
import type { Difference } from './state/differences.ts'

/** What another person changed since the form was opened, next to what would be saved. */
export const Review = ({
  differences,
  isBusy,
  onSave,
  onDiscard,
  onBack,
}: {
  differences: readonly Difference[]
  isBusy: boolean
  onSave(): void
  onDiscard(): void
  onBack(): void
}) => (
  <section class="review" aria-labelledby="review-title" role="alert">
    <div class="section-head">
      <h2 id="review-title">Another person changed these settings</h2>
    </div>
    <p>
      {differences.some(({ isConflict }) => isConflict)
        ? 'You changed some of the same fields. Saving replaces what is saved there now.'
        : 'You changed other fields. Saving keeps their changes.'}
    </p>
    <Scroll name="Changes">
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">When you opened the form</th>
            <th scope="col">Stored now</th>
            <th scope="col">After saving yours</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ field, label, before, theirs, mine, isConflict }) => (
            <tr key={field}>
              <th scope="row">{label}</th>
              <td>{before}</td>
              <td>{theirs}</td>
              <td class={isConflict ? 'degraded' : undefined}>
                {mine}
                {isConflict && ' (replaces the saved one)'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
    <div class="actions">
      <button type="button" class="main" disabled={isBusy} onClick={onSave}>
        Save my changes
      </button>
      <button type="button" onClick={onDiscard}>
        Discard my changes
      </button>
      <button type="button" onClick={onBack}>
        Back to the form
      </button>
    </div>
  </section>
)
