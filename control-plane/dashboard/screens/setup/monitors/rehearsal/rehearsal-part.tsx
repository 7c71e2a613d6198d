import { useLazyPart } from '../../../../parts/layout/lazy-part.tsx'
import type { RehearsalSettings } from './rehearsal-section.tsx'

const load = async () => (await import('./rehearsal-section.tsx')).RehearsalSection

/** What changed settings would have done. Its code is loaded when settings differ from the stored ones first. */
export function RehearsalPart({
  monitorId,
  update,
}: Omit<RehearsalSettings, 'update'> & { update: RehearsalSettings['update'] | null }) {
  const Part = useLazyPart(load, update !== null)
  return Part && update !== null ? <Part monitorId={monitorId} update={update} /> : null
}
