import type { MessagePort, Worker } from 'node:worker_threads'

/** A message to the thread, and its answer. */
type ThreadQuestion<Q> = { id: number; question: Q }
type ThreadAnswer<A> = { id: number; answer: A } | { id: number; problem: string }
/** The first message of the thread: it is ready. */
type Ready = 'ready'

/** After `ms`, the question is rejected with the message `problem`. */
type TimeLimit = { ms: number; problem: string }

type ThreadOptions = {
  start(): Worker
  after(ms: number, work: () => void): () => void
  /** for a question */
  answerTimeout: TimeLimit
  /** for the start of a new thread, which can take seconds on a busy machine */
  startTimeout: TimeLimit
  queueLimit: { waiting: number; problem: string }
  /** an idle thread ends after this time; default: never */
  idleMs?: number
}

/** The question took too long, or ended its thread. Another question may succeed. */
export class QuestionError extends Error {}

/** Sends a question to the thread. @throws Error when the queue is full; QuestionError */
type AskThread<Q, A> = (question: Q) => Promise<A>

type WaitingQuestion<Q, A> = { asked: ThreadQuestion<Q>; resolve: (answer: A) => void; reject: (error: Error) => void }

/** What the functions of a thread share. */
type ThreadState<Q, A> = {
  options: ThreadOptions
  /** the question in progress first */
  waiting: WaitingQuestion<Q, A>[]
  thread: Worker | null
  isReady: boolean
  lastId: number
  stopWaiting: () => void
}

/**
 * A worker thread for work that would block the event loop, one question at a time. The thread is started on demand. A
 * thread that does not answer in time is terminated, and the next question starts a new one.
 */
export function createWorkerThread<Q, A>(options: ThreadOptions): AskThread<Q, A> {
  const state: ThreadState<Q, A> = {
    options,
    waiting: [],
    thread: null,
    isReady: false,
    lastId: 0,
    stopWaiting() {},
  }
  return question => {
    const { waiting } = state
    if (waiting.length >= options.queueLimit.waiting) throw new Error(options.queueLimit.problem)
    return new Promise((resolve, reject) => {
      waiting.push({ asked: { id: ++state.lastId, question }, resolve, reject })
      if (waiting.length > 1) return
      state.stopWaiting()
      askNext(state)
    })
  }
}

function askNext<Q, A>(state: ThreadState<Q, A>): void {
  const next = state.waiting[0]
  if (!next) {
    rest(state)
    return
  }
  try {
    state.thread ??= startThread(state)
    state.thread.ref()
    limitWait(state, next)
    state.thread.postMessage(next.asked)
  } catch (error) {
    // the machine cannot start another thread
    breakOff(state, (error as Error).message)
  }
}

/** Without a question the thread does not keep the process alive, and ends after its idle time. */
function rest<Q, A>(state: ThreadState<Q, A>): void {
  const { options } = state
  state.thread?.unref()
  if (options.idleMs !== undefined) state.stopWaiting = options.after(options.idleMs, () => endThread(state))
}

/** Breaks off when the thread does not start or does not answer in time. */
function limitWait<Q, A>(state: ThreadState<Q, A>, one: WaitingQuestion<Q, A>): void {
  const { options } = state
  const { ms, problem } = state.isReady ? options.answerTimeout : options.startTimeout
  // an answer that arrived while this thread was busy is read first
  state.stopWaiting = options.after(ms, () => setImmediate(() => one === state.waiting[0] && breakOff(state, problem)))
}

function startThread<Q, A>(state: ThreadState<Q, A>): Worker {
  const worker = state.options.start()
  worker.on('message', (message: ThreadAnswer<A> | Ready) =>
    message === 'ready' ? markReady(state, worker) : settle(state, message),
  )
  worker.on('error', error => worker === state.thread && breakOff(state, error.message))
  return worker
}

/** The start of the thread does not count as time of the question. */
function markReady<Q, A>(state: ThreadState<Q, A>, worker: Worker): void {
  if (worker !== state.thread) return
  state.isReady = true
  state.stopWaiting()
  if (state.waiting[0]) limitWait(state, state.waiting[0])
}

function endThread<Q, A>(state: ThreadState<Q, A>): void {
  void state.thread?.terminate()
  state.thread = null
  state.isReady = false
}

/** Ends the thread and rejects its question. A thread that was not ready did not read the question. */
function breakOff<Q, A>(state: ThreadState<Q, A>, problem: string): void {
  const error = state.isReady ? new QuestionError(problem) : new Error(problem)
  endThread(state)
  const current = state.waiting[0]
  if (!current) return
  end(state)
  current.reject(error)
  askNext(state)
}

/** Ends the question in progress. */
function end<Q, A>(state: ThreadState<Q, A>): void {
  state.stopWaiting()
  state.waiting.shift()
}

/** Resolves or rejects the question in progress, and asks the next one. */
function settle<Q, A>(state: ThreadState<Q, A>, answer: ThreadAnswer<A>): void {
  const current = state.waiting[0]
  if (current?.asked.id !== answer.id) return
  end(state)
  if ('problem' in answer) current.reject(new Error(answer.problem))
  else current.resolve(answer.answer)
  askNext(state)
}

/**
 * The thread's side: answers each question that arrives on the port. A trap of a WebAssembly module ends the thread, because the
 * module cannot be used after it; the next question starts a new thread.
 */
export function answerQuestions<Q, A>(port: MessagePort | null, work: (question: Q) => A): void {
  const answerTo = ({ id, question }: ThreadQuestion<Q>): ThreadAnswer<A> => {
    try {
      return { id, answer: work(question) }
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw error
      return { id, problem: (error as Error).message }
    }
  }
  port?.on('message', (asked: ThreadQuestion<Q>) => port.postMessage(answerTo(asked)))
  port?.postMessage('ready' satisfies Ready)
}
