import { CopyButton } from '../../../parts/copy-button.tsx'

/** A text with a button that copies it. `label`: what it is, for screen readers. */
export const CopyField = ({ label, value }: { label: string; value: string }) => (
  <span class="copy-field">
    <code dir="ltr">{value}</code>
    <CopyButton text={value} what={label} />
  </span>
)
