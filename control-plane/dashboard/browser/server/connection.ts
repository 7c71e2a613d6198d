import type { QueryClient } from '@tanstack/query-core'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createPicket } from '../../../../deploy/client/index.ts'
import { formatTime } from '../../core/format.ts'
import type { FrameContext, Me } from '../../core/frame-context.ts'
import { ADMIN_READS, createExecute, type Execute } from '../../core/operations.ts'
import type { FrameNotice } from '../../parts/layout/frame.tsx'
import { loadWholePages } from '../leave-question.ts'
import { fetchInTime, readAllAgain } from './queries.ts'

/** Without an answer or event for this time, what is shown counts as old. */
const SILENCE_MS = 30_000

const NEEDS_ADMIN = { status: 403, code: 'insufficient_scope', message: 'this needs the role admin' }
const NEEDS_OPERATOR = { ...NEEDS_ADMIN, message: 'only the operator project can read this' }

export type ApiConnection = {
  execute: Execute
  /** the session has ended, or it is now of another organization or person */
  loss: 'ended' | 'elsewhere' | null
  /** the last answer or event of the server */
  lastContactMs: number
  /** since when the page can know that there is none: in the background it does not read */
  awaitedSinceMs: number
  /** notes that an event arrived */
  noteContact(): void
}

/** The address of the session bridge for a page: requests fail when the session is no longer that of the page. */
export const buildSessionPath = ({ project, user }: Me): string =>
  user ? `/session/of/${project.id}/${user.id}` : '/session'

/** The API through the session bridge, and what is known about the connection to it. */
export function useConnection(me: Me): ApiConnection {
  const { scope, is_operator: isOperator } = me
  const [loss, setLoss] = useState<ApiConnection['loss']>(null)
  const lastContactMs = useRef(Date.now())
  const execute = useMemo(() => {
    const send = createExecute(
      createPicket({ origin: `${location.origin}${buildSessionPath(me)}`, fetch: fetchInTime }),
    )
    const observed: Execute = async (name, args) => {
      if (scope !== 'admin' && ADMIN_READS.includes(name)) return { error: NEEDS_ADMIN }
      if (!isOperator && name === 'listProbes') return { error: NEEDS_OPERATOR }
      const outcome = await send(name, args)
      const { status, code } = 'error' in outcome ? outcome.error : { status: 200, code: '' }
      if (status !== 0) lastContactMs.current = Date.now()
      if (name !== 'readMe' || status !== 0)
        setLoss(status === 401 ? 'ended' : code === 'other_session' ? 'elsewhere' : null)
      return outcome
    }
    return observed
  }, [])
  const shownMs = useRef(Date.now())
  useEffect(() => {
    const onShow = () => {
      if (!document.hidden) shownMs.current = Date.now()
    }
    document.addEventListener('visibilitychange', onShow)
    return () => document.removeEventListener('visibilitychange', onShow)
  }, [])
  return {
    ...{ execute, loss, lastContactMs: lastContactMs.current },
    awaitedSinceMs: Math.max(lastContactMs.current, shownMs.current),
    noteContact: () => {
      lastContactMs.current = Date.now()
    },
  }
}

/** What the page says about the connection; null: nothing. */
export function buildNotice(
  { loss, lastContactMs, awaitedSinceMs }: ApiConnection,
  { nowMs, timeZone }: FrameContext,
  url: string,
): FrameNotice | null {
  if (loss === 'elsewhere') {
    return {
      ...{ kind: 'session', text: 'This browser is now signed in to another organization or as another person.' },
      link: { path: url, name: 'Load this page again' },
    }
  }
  if (loss === 'ended') {
    const path = `/sign-in?${new URLSearchParams({ return_to: url })}`
    return {
      ...{ kind: 'session', text: 'Your session has ended. What you typed is still here.' },
      link: { path, name: 'Sign in again in a new tab', isNewTab: true },
    }
  }
  if (nowMs - awaitedSinceMs < SILENCE_MS) return null
  const since = formatTime(lastContactMs, timeZone, 'time')
  return { kind: 'offline', text: `No contact with the server since ${since}. What you see is from that time.` }
}

/** Follows the loss of the session: links load whole pages, or the page reads again when the person returns to the tab. */
export function useLoss(cache: QueryClient, loss: ApiConnection['loss']): void {
  useEffect(() => {
    if (loss === 'elsewhere') return loadWholePages()
    if (loss !== 'ended') return undefined
    const onReturn = () => void readAllAgain(cache)
    addEventListener('focus', onReturn)
    return () => removeEventListener('focus', onReturn)
  }, [cache, loss])
}
