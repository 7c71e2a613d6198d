import type { DisplayStatus, OverallStatus } from '../../core/types.ts'
import { type StatusLetter as Letter, STATUS_LABELS, STATUS_LETTERS } from '../labels.ts'

/** The icons of all statuses, defined once per page. */
export const IconSheet = () => (
  <svg width="0" height="0" class="sheet" aria-hidden="true">
    <symbol id="o" viewBox="0 0 16 16">
      <circle cx="8" cy="8" r="8" />
      <path class="cut" d="M4.6 8.3 7 10.7l4.5-5" />
    </symbol>
    <symbol id="d" viewBox="0 0 16 16">
      <path d="M6.6 1.3a1.6 1.6 0 0 1 2.8 0l6.2 11.3a1.6 1.6 0 0 1-1.4 2.4H1.8a1.6 1.6 0 0 1-1.4-2.4z" />
      <path class="cut" d="M8 5.6v4m0 2.3v.2" />
    </symbol>
    <symbol id="x" viewBox="0 0 16 16">
      <rect width="16" height="16" rx="4" />
      <path class="cut" d="m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6" />
    </symbol>
    <symbol id="m" viewBox="0 0 16 16">
      <circle cx="8" cy="8" r="8" />
      <path class="cut" d="M8 4v4.2l2.8 1.8" />
    </symbol>
    <symbol id="u" viewBox="0 0 16 16">
      <circle cx="8" cy="8" r="8" />
      <path class="cut" d="M5 8h6" />
    </symbol>
  </svg>
)

export const StatusIcon = ({ sign }: { sign: Letter }) => (
  <svg class={`sign ${sign}`} aria-hidden="true">
    <use href={`#${sign}`} />
  </svg>
)

/** A status as text, with an icon that differs in shape, not only in colour. */
export const StatusLabel = ({ status }: { status: DisplayStatus }) => (
  <span class={`status ${STATUS_LETTERS[status]}`}>
    <StatusIcon sign={STATUS_LETTERS[status]} />
    {STATUS_LABELS[status]}
  </span>
)

export const OverallIcon = ({ status }: { status: OverallStatus }) => <StatusIcon sign={STATUS_LETTERS[status]} />
