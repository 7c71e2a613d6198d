import type { CheckFunction, CheckType } from '../../shared/checks/check.ts'
import { checkDns } from './dns.ts'
import { checkHttp } from './http.ts'
import { checkKeyword } from './keyword.ts'
import { checkPing } from './ping.ts'
import { checkTcp } from './tcp.ts'

/** All check types that this probe runs. To add one, add a file to this folder and a line here. */
export const CHECKS: Record<CheckType, CheckFunction> = {
  http: checkHttp,
  keyword: checkKeyword,
  tcp: checkTcp,
  ping: checkPing,
  dns: checkDns,
}
