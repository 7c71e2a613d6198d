import { CopyButton } from '../copy-button.tsx'

/** A secret that is shown once, with a button that copies it. */
export const Secret = ({ label, value }: { label: string; value: string }) => (
  <div class="banner secret">
    <p>{label}</p>
    <p class="secret-value">
      <code>{value}</code>
      <CopyButton text={value} what="the secret" />
    </p>
  </div>
)
