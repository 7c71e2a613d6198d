import { useEffect, useState } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'
import type { Execute, OperationResponse } from '../../core/operations.ts'

type PageRecord = OperationResponse<'listStatusPages'>['data'][number]
export type PageComponent = OperationResponse<'listStatusPageComponents'>['data'][number]

/** A published status page. `isComplete`: all of its components were read. */
type ShownPage = { page: PageRecord; components: readonly PageComponent[]; isComplete: boolean }

/** The published pages of the project. `isComplete`: there are no others. */
export type ShownPages = { pages: readonly ShownPage[]; isComplete: boolean }

const MAX_PAGES = 10

/** Reads the first published pages, and their components. */
export async function readPublishedPages(execute: Execute): Promise<ShownPages> {
  const listed = await execute('listStatusPages', { query: { per_page: 100 } })
  if ('error' in listed) return { pages: [], isComplete: false }
  const { data, meta } = listed.data
  const published = data.filter(page => page.is_published)
  const pages = await Promise.all(
    published.slice(0, MAX_PAGES).map(async page => {
      const list = await execute('listStatusPageComponents', { path: { id: page.id } })
      if ('error' in list) return { page, components: [], isComplete: false }
      return { page, components: list.data.data, isComplete: list.data.meta.total <= list.data.data.length }
    }),
  )
  return { pages, isComplete: meta.total <= data.length && published.length <= MAX_PAGES }
}

/** The published pages, read once; null until they are read. */
export function usePublishedPages(): ShownPages | null {
  const { execute } = useFrame()
  const [published, setPublished] = useState<ShownPages | null>(null)
  useEffect(() => void readPublishedPages(execute).then(setPublished), [])
  return published
}

/** The pages that show one of the monitors. `isCertain`: no other page can show one. */
export function findShowingPages({ pages, isComplete }: ShownPages, monitorIds: readonly string[]) {
  const isShown = ({ components }: ShownPage) =>
    components.some(({ monitor_id: id }) => id !== null && monitorIds.includes(id))
  const shown = pages.filter(isShown)
  return { shown, isCertain: isComplete && pages.every(page => page.isComplete || shown.includes(page)) }
}
