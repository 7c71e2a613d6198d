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

/** Sends a question to the thread. @throws Error when the queue is full or the answer takes too long */
type AskThread<Q, A> = (question: Q) => Promise<A>

type Waiting<Q, A> = { asked: ThreadQuestion<Q>; resolve: (answer: A) => void; reject: (error: Error) => void }

/**
 * A worker thread for work that would block the event loop, one question at a time. The thread is started on demand. A
 * thread that does not answer in time is terminated, and the next question starts a new one.
 */
export function createWorkerThread<Q, A>(options: ThreadOptions): AskThread<Q, A> {
  const waiting: Waiting<Q, A>[] = []
  let thread: Worker | null = null
  let isReady = false
  let lastId = 0
  let stopWaiting = () => {}

  function ask(): void {
    const next = waiting[0]
    if (!next) {
      rest()
      return
    }
    try {
      thread ??= start()
      thread.ref()
      waitFor(next)
      thread.postMessage(next.asked)
    } catch (error) {
      // the machine cannot start another thread
      breakOff((error as Error).message)
    }
  }

  function rest(): void {
    thread?.unref()
    if (options.idleMs !== undefined) stopWaiting = options.after(options.idleMs, end)
  }

  function waitFor(one: Waiting<Q, A>): void {
    const { ms, problem } = isReady ? options.answerTimeout : options.startTimeout
    // an answer that arrived while this thread was busy is read first
    stopWaiting = options.after(ms, () => setImmediate(() => one === waiting[0] && breakOff(problem)))
  }

  function start(): Worker {
    const worker = options.start()
    worker.on('message', (message: ThreadAnswer<A> | Ready) => (message === 'ready' ? begin(worker) : settle(message)))
    worker.on('error', error => worker === thread && breakOff(error.message))
    return worker
  }

  /** The start of the thread does not count as time of the question. */
  function begin(worker: Worker): void {
    if (worker !== thread) return
    isReady = true
    stopWaiting()
    if (waiting[0]) waitFor(waiting[0])
  }

  function end(): void {
    void thread?.terminate()
    thread = null
    isReady = false
  }

  function breakOff(problem: string): void {
    end()
    const current = waiting[0]
    if (current) settle({ id: current.asked.id, problem })
  }

  function settle(answer: ThreadAnswer<A>): void {
    const current = waiting[0]
    if (current?.asked.id !== answer.id) return
    stopWaiting()
    waiting.shift()
    if ('problem' in answer) current.reject(new Error(answer.problem))
    else current.resolve(answer.answer)
    ask()
  }

  return question => {
    if (waiting.length >= options.queueLimit.waiting) throw new Error(options.queueLimit.problem)
    return new Promise((resolve, reject) => {
      waiting.push({ asked: { id: ++lastId, question }, resolve, reject })
      if (waiting.length > 1) return
      stopWaiting()
      ask()
    })
  }
}

/** The thread's side: answers each question that arrives on the port. */
export function answerQuestions<Q, A>(port: MessagePort | null, work: (question: Q) => A): void {
  const answerTo = ({ id, question }: ThreadQuestion<Q>): ThreadAnswer<A> => {
    try {
      return { id, answer: work(question) }
    } catch (error) {
      return { id, problem: (error as Error).message }
    }
  }
  port?.on('message', (asked: ThreadQuestion<Q>) => port.postMessage(answerTo(asked)))
  port?.postMessage('ready' satisfies Ready)
}
