import { parentPort } from 'node:worker_threads'
import { answerQuestions } from '../../../../shared/process/thread.ts'
import { type Examination, examine } from './examine.ts'

/** The thread in which large documents are examined. A Buffer arrives as the plain bytes that it is made of. */
answerQuestions(parentPort, ({ answer, ...how }: Examination) =>
  examine({ answer: { ...answer, body: answer.body && Buffer.from(answer.body) }, ...how }),
)
