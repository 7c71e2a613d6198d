import type { QueryClient } from '@tanstack/query-core'
import { useEffect } from 'preact/hooks'
import type { Me } from '../../core/frame-context.ts'
import type { Execute } from '../../core/operations.ts'
import { loadMatch } from '../screens.ts'
import { prefetch } from './queries.ts'

/** How long the pointer rests on a link before its page is read. */
const REST_MS = 120

/** Runs one action at a time. Of those that are asked for meanwhile, only the last one follows. */
export function createTurns<T>(run: (request: T) => Promise<void>): (request: T) => void {
  let isBusy = false
  let next: { request: T } | null = null
  const start = async (request: T) => {
    isBusy = true
    await run(request)
    isBusy = false
    const following = next
    next = null
    if (following) void start(following.request)
  }
  return request => {
    if (isBusy) next = { request }
    else void start(request)
  }
}

/** Reads what a screen needs while the pointer rests on a link to it. One screen at a time: the last link waits for its turn. */
export function usePrefetch(cache: QueryClient, execute: Execute, me: Me): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const start = async ({ pathname, search }: HTMLAnchorElement) => {
      // code that cannot be loaded now is loaded with the page
      const match = await loadMatch(pathname).catch(() => null)
      if (!match) return
      const { screen, params } = match
      await prefetch(cache, execute, screen.queries({ params, search: new URLSearchParams(search) }, Date.now(), me))
    }
    const read = createTurns(start)
    const onPointer = ({ target }: PointerEvent) => {
      clearTimeout(timer)
      const link = target instanceof Element ? target.closest('a') : null
      if (link?.origin === location.origin) timer = setTimeout(() => read(link), REST_MS)
    }
    document.addEventListener('pointerover', onPointer)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('pointerover', onPointer)
    }
  }, [cache, execute, me])
}
