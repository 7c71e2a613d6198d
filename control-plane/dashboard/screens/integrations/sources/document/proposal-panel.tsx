import { formatCount } from '../../../../core/format.ts'
import type { Candidate } from './proposal.ts'

/** A value that was chosen, and which monitors it could become. */
export type ValueChoice = { id: string; candidates: Candidate[]; at: number } | { id: string; problem: string }

/** The choice between "every service" and this value alone, before a rule is added. */
export function ProposalPanel({
  chosen,
  onChange,
  onAdd,
  onCancel,
}: {
  chosen: ValueChoice
  onChange(at: number): void
  onAdd(): void
  onCancel(): void
}) {
  if ('problem' in chosen) {
    return (
      <p class="missing" role="status">
        {chosen.problem}
      </p>
    )
  }
  return (
    <fieldset class="proposal">
      <legend>
        New rule for <bdi class="mono">{chosen.id}</bdi>
      </legend>
      {chosen.candidates.map(({ label, count, field }, i) => (
        <label key={field.path}>
          <input type="radio" name="candidate" checked={i === chosen.at} onChange={() => onChange(i)} />
          <span>
            <b dir="auto">{label}</b> <span class="soft">{formatCount(count, 'monitor')}</span>
            <small class="mono soft" dir="auto">
              {field.path}
            </small>
          </span>
        </label>
      ))}
      <div class="actions">
        <button type="button" class="main" onClick={onAdd}>
          Add the rule
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </fieldset>
  )
}
