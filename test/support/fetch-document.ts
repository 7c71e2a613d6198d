import { type Fetched, readDocument } from '../../control-plane/data-sources/document.ts'
import { type Asked, fetchAnswer } from '../../control-plane/data-sources/fetch-reader.ts'
import type { Egress, Signal } from '../../shared/egress/index.ts'

/** Fetches from a source and reads the document that the answer holds. */
export async function fetchDocument(
  egress: Egress,
  asked: Asked & { rootPath: string | null },
  headers: Record<string, string>,
  signal?: Signal,
): Promise<Fetched> {
  const answer = await fetchAnswer(egress, asked, headers, signal)
  return 'failure' in answer ? answer : readDocument(answer, asked.rootPath)
}
