import type { OperationArguments, OperationName, OperationResponse } from './core/operations.ts'

type Field = (name: string) => string

/** A form of the dashboard that works without scripts: the operation that it carries out, and the page that follows. */
export type PageForm<Name extends OperationName = OperationName> = {
  /** the `action` of the form, as in `/incidents/:id/acknowledge` */
  path: string
  operation: Name
  buildArguments(id: string, field: Field): OperationArguments<Name>
  /** the path of the page that shows the result */
  buildNextPath(id: string, response: OperationResponse<Name>): string
}

const form = <Name extends OperationName>(route: PageForm<Name>): PageForm => route as unknown as PageForm

const byId = (id: string) => ({ path: { id } })

/** The forms of all screens that work without scripts. */
export const FORMS: readonly PageForm[] = [
  form({
    path: '/incidents/:id/acknowledge',
    operation: 'acknowledgeIncident',
    buildArguments: byId,
    buildNextPath: id => `/incidents/${id}`,
  }),
  form({
    path: '/incidents/:id/updates',
    operation: 'createIncidentUpdate',
    buildArguments: (id, field) => ({
      path: { id },
      body: {
        message: field('message'),
        status: field('status') as 'investigating',
        is_internal: field('visibility') === 'internal',
      },
    }),
    buildNextPath: id => `/incidents/${id}`,
  }),
  form({
    path: '/incidents/:id/resolve',
    operation: 'updateIncident',
    buildArguments: id => ({ path: { id }, body: { status: 'resolved' } }),
    buildNextPath: id => `/incidents/${id}`,
  }),
  form({
    path: '/monitors/:id/baseline',
    operation: 'acceptMonitorScreenshots',
    buildArguments: byId,
    buildNextPath: id => `/monitors/${id}`,
  }),
  form({
    path: '/log/:id/retry',
    operation: 'retryAlertLog',
    buildArguments: byId,
    buildNextPath: id => `/log/${id}`,
  }),
  form({
    path: '/settings/channels/:id/resume',
    operation: 'resumeAlertChannel',
    buildArguments: byId,
    buildNextPath: () => '/settings/channels',
  }),
  form({
    path: '/settings/channels/:id/test',
    operation: 'testAlertChannel',
    buildArguments: byId,
    buildNextPath: (_id, { data }) => `/log/${data.id}`,
  }),
]
