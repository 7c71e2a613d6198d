import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Execute, OperationResponse } from './operations.ts'

export type Me = OperationResponse<'readMe'>['data']

/** What every part of a screen may use. */
export type FrameContext = {
  me: Me
  /** the current time, in ms; it advances while the page is open */
  nowMs: number
  /** UTC until the browser has taken over the page */
  timeZone: string
  /** false on the server and until the browser has taken over */
  isInteractive: boolean
  /** carries out an operation and then reads again what the page shows */
  execute: Execute
  /** opens another page of the dashboard; `isReplaced`: instead of this one in the history of the browser */
  navigate(address: string, isReplaced?: boolean): void
  /** asks before the page is left, until the returned function is called */
  holdPage(): () => void
}

const Context = createContext<FrameContext | null>(null)

export const FrameProvider = Context.Provider

/** Throws outside the frame. */
export function useFrame(): FrameContext {
  const context = useContext(Context)
  if (!context) throw new Error('this part is outside the frame')
  return context
}

/** Whether the person may change records: not for viewers. */
export const canWrite = ({ scope }: Me): boolean => scope !== 'read'
