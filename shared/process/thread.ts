import type { MessagePort, Worker } from 'node:worker_threads'

/** What a thread is asked and answers. */
type ThreadQuestion<Q> = { id: number; question: Q }
type ThreadAnswer<A> = { id: number; answer: A } | { id: number; problem: string }
/** The thread's first message: from here on it works. */
type Ready = 'ready'

/** After this time a question is given up with this problem. */
type TimeLimit = { ms: number; problem: string }

export type ThreadOptions = {
  start(): Worker
  after(ms: number, work: () => void): () => void
  /** for a question */
  answerTimeout: TimeLimit
  /** for a new thread, which loads its program: on a busy machine that takes seconds */
  startTimeout: TimeLimit
  queueLimit: { waiting: number; problem: string }
  /** a thread without work ends after this time; it stays when this is left out */
  idleMs?: number
}

/** Puts a question to the thread. @throws Error when too many wait, or the question takes too long */
export type AskThread<Q, A> = (question: Q) => Promise<A>

type Waiting<Q, A> = { asked: ThreadQuestion<Q>; resolve: (answer: A) => void; reject: (error: Error) => void }

/**
 * A thread for work that would hold the event loop: one question after the other. It is started when there is something
 * to ask; one that does not answer in time is ended, and the next question gets another one.
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
      // the machine has no more threads
      breakOff((error as Error).message)
    }
  }

  function rest(): void {
    thread?.unref()
    if (options.idleMs !== undefined) stopWaiting = options.after(options.idleMs, end)
  }

  function waitFor(one: Waiting<Q, A>): void {
    const { ms, problem } = isReady ? options.answerTimeout : options.startTimeout
    // answers that came while this thread was busy are read before
    stopWaiting = options.after(ms, () => setImmediate(() => one === waiting[0] && breakOff(problem)))
  }

  function start(): Worker {
    const worker = options.start()
    worker.on('message', (message: ThreadAnswer<A> | Ready) => (message === 'ready' ? begin(worker) : settle(message)))
    worker.on('error', error => worker === thread && breakOff(error.message))
    return worker
  }

  /** The time that the start took does not count as time of the question. */
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

/** The other side: answers each question that comes through the port. */
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
