import { type ParsedDocument, parseDocument } from '../../control-plane/integrations/data-sources/document/document.ts'
import {
  requestDocument,
  type SourceRequest,
} from '../../control-plane/integrations/data-sources/fetching/http-reader.ts'
import type { DeadlineSignal } from '../../shared/egress/index.ts'
import type { Egress } from '../../shared/egress/types.ts'

/** Fetches a source and parses the document of the answer. */
export async function fetchDocument(
  egress: Egress,
  asked: SourceRequest & { rootPath: string | null },
  headers: Record<string, string>,
  signal?: DeadlineSignal,
): Promise<ParsedDocument> {
  const answer = await requestDocument(egress, asked, headers, { signal })
  return 'failure' in answer ? answer : parseDocument(answer, asked.rootPath)
}
