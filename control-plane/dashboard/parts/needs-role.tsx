import { type Me, useFrame } from '../core/frame-context.ts'

type Role = 'admin' | 'editor'

/** Whether the person may do what needs a role. */
export const hasRole = ({ scope }: Me, role: Role): boolean =>
  scope === 'admin' || (role === 'editor' && scope === 'write')

/** Says which role is needed. Nothing for people who have it. `what`: the start of the sentence, such as `Inviting people`. */
export function NeedsRole({ what, needed }: { what: string; needed: Role }) {
  const { me } = useFrame()
  return hasRole(me, needed) ? null : (
    <p class="missing">
      {what} needs the role {needed}. Your role is {me.role}.
    </p>
  )
}
