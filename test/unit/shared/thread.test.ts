import { EventEmitter } from 'node:events'
import { type MessagePort, Worker } from 'node:worker_threads'
import t from 'tap'
import { answerQuestions, createWorkerThread, QuestionError } from '../../../shared/process/thread.ts'

const DOUBLES = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', ({ id, question }) => parentPort.postMessage({ id, answer: question * 2 }))
  parentPort.postMessage('ready')`

const TIMEOUT_MS = 60_000

t.test('Questions fail immediately while the machine cannot start threads, and are answered later', async t => {
  const workers: Worker[] = []
  let canStart = false
  const ask = createWorkerThread<number, number>({
    start() {
      if (!canStart) throw new Error('no more threads')
      const worker = new Worker(DOUBLES, { eval: true })
      workers.push(worker)
      return worker
    },
    after(ms, work) {
      const timer = setTimeout(work, ms)
      return () => clearTimeout(timer)
    },
    answerTimeout: { ms: TIMEOUT_MS, problem: 'too long' },
    startTimeout: { ms: TIMEOUT_MS, problem: 'not started' },
    queueLimit: { waiting: 10, problem: 'too many' },
  })
  t.teardown(() => Promise.all(workers.map(worker => worker.terminate())))
  const refused = await Promise.allSettled([1, 2, 3].map(ask))
  t.match(refused, Array(3).fill({ status: 'rejected', reason: { message: 'no more threads' } }))
  canStart = true
  t.same(await Promise.all([1, 2, 3].map(ask)), [2, 4, 6])
  t.equal(workers.length, 1)
})

t.test(
  'A question that takes too long or ends its thread is distinguished from a thread that does not start',
  async t => {
    const ready = `const { parentPort } = require('node:worker_threads'); parentPort.postMessage('ready');`
    const cases: [
      name: string,
      program: string,
      timeouts: { answer: number; start: number },
      error: object,
      ofQuestion: boolean,
    ][] = [
      [
        'too long',
        `${ready} parentPort.on('message', () => { for (;;); })`,
        { answer: 1, start: TIMEOUT_MS },
        { message: 'too long' },
        true,
      ],
      [
        'ends',
        `${ready} parentPort.on('message', () => { throw new Error('full') })`,
        { answer: TIMEOUT_MS, start: TIMEOUT_MS },
        { message: 'full' },
        true,
      ],
      ['not started', 'for (;;);', { answer: TIMEOUT_MS, start: 1 }, { message: 'not started' }, false],
      [
        'an answer',
        `${ready} parentPort.on('message', ({ id }) => parentPort.postMessage({ id, problem: 'bad' }))`,
        { answer: TIMEOUT_MS, start: TIMEOUT_MS },
        { message: 'bad' },
        false,
      ],
    ]
    for (const [name, program, { answer, start }, error, ofQuestion] of cases) {
      const workers: Worker[] = []
      const ask = createWorkerThread<number, number>({
        start() {
          const worker = new Worker(program, { eval: true })
          workers.push(worker)
          return worker
        },
        after(ms, work) {
          const timer = setTimeout(work, ms)
          return () => clearTimeout(timer)
        },
        answerTimeout: { ms: answer, problem: 'too long' },
        startTimeout: { ms: start, problem: 'not started' },
        queueLimit: { waiting: 10, problem: 'too many' },
      })
      const failure = await ask(1).catch(one => one)
      t.match(failure, error, name)
      t.equal(failure instanceof QuestionError, ofQuestion, name)
      await Promise.all(workers.map(worker => worker.terminate()))
    }
  },
)

t.test('An error of the work is an answer, and a trap of a WebAssembly module ends the thread', async t => {
  const sent: unknown[] = []
  const port = Object.assign(new EventEmitter(), { postMessage: (message: unknown) => sent.push(message) })
  answerQuestions(port as unknown as MessagePort, (error: Error) => {
    throw error
  })
  port.emit('message', { id: 1, question: new Error('damaged') })
  t.same(sent, ['ready', { id: 1, problem: 'damaged' }])
  const trap = new WebAssembly.RuntimeError('unreachable')
  t.throws(() => port.emit('message', { id: 2, question: trap }), trap)
  t.equal(sent.length, 2)
})
