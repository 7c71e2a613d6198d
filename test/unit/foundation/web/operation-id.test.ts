import t from 'tap'
import { buildOperationId } from '../../../../control-plane/foundation/web/openapi/operation-id.ts'

t.test('The name of an operation is its verb and its resource', async t => {
  const rows: [string, string][] = [
    ['GET /monitors', 'listMonitors'],
    ['POST /monitors', 'createMonitor'],
    ['GET /monitors/{id}', 'readMonitor'],
    ['PUT /monitors/{id}', 'updateMonitor'],
    ['DELETE /monitors/{id}', 'deleteMonitor'],
    ['POST /monitors/bulk', 'createMonitors'],
    ['POST /monitors/{id}/pause', 'pauseMonitor'],
    ['GET /monitors/{id}/checks', 'listMonitorChecks'],
    ['PUT /monitors/{id}/auth', 'updateMonitorAuth'],
    ['GET /dependencies/{id}/incidents', 'listDependencyIncidents'],
    ['POST /alerts/channels/{id}/rotate-secret', 'rotateAlertChannelSecret'],
    ['POST /members/{id}/claim-link', 'createMemberClaimLink'],
    ['DELETE /status-pages/{id}/components/{cid}', 'deleteStatusPageComponent'],
    ['GET /analytics/latency', 'readAnalyticsLatency'],
    ['GET /project', 'readProject'],
    ['GET /export', 'exportProject'],
    ['GET /alerts/settings', 'readAlertSettings'],
  ]
  for (const [operation, name] of rows) {
    const [method = '', path = ''] = operation.split(' ')
    t.equal(buildOperationId(method, path), name, operation)
  }
})
