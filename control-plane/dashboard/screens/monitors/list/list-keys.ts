import { useFrame } from '../../../core/frame-context.ts'
import { useRowKeys } from '../../../parts/layout/row-keys.ts'
import type { BulkAction } from '../bulk/change-dialog.tsx'

const FILTER_KEY = { '/': (_row: unknown, page: Document) => page.getElementById('filter')?.focus() }

/** The keys of the list of monitors for people who change nothing. Returns the reference for the element around the rows. */
export const useReaderKeys = () => useRowKeys(FILTER_KEY)

/** The keys of the list of monitors for editors. Returns the reference for the element around the rows. */
export function useEditorKeys(actions: {
  toggle(id: string): void
  /** `id` null: no row has the focus */
  change(action: BulkAction, id: string | null): void
  check(id: string): void
}) {
  const { navigate, mayLeave } = useFrame()
  const withId = (use: (id: string) => void) => (row: HTMLElement | null) => {
    const id = row?.dataset.id
    if (id) use(id)
  }
  return useRowKeys({
    ...FILTER_KEY,
    x: withId(actions.toggle),
    p: row => actions.change('pause', row?.dataset.id ?? null),
    m: row => actions.change('silence', row?.dataset.id ?? null),
    c: withId(actions.check),
    e: withId(id => {
      if (mayLeave()) navigate(`/monitors/${id}/settings`)
    }),
  })
}
