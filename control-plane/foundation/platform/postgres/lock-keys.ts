/**
 * The keys of all advisory locks, so that no two purposes share one. Where there is one lock for each project, channel or
 * similar, the second key is a hash of its id. A number that has been used keeps its purpose, because processes of two
 * versions may run at the same time.
 */
export const LOCK_KEYS = {
  migrations: 7_026_000,
  /** taken by a function of the database (migration 0002) */
  monitorRevisions: 7_026_001,
  /** of a channel */
  deliveryLanes: 7_026_002,
  /** of a project */
  digests: 7_026_003,
  /** of a project */
  monitorParents: 7_026_004,
  operatorProject: 7_026_005,
  operatorIncidents: 7_026_006,
  /** of a project */
  imports: 7_026_009,
  /** of a status page */
  pageNotices: 7_026_017,
  /** of a name or an address */
  signInAttempts: 7_026_019,
  /** of a destination */
  relay: 7_026_020,
  canaries: 7_026_021,
  /** of a network */
  bootstrap: 7_026_022,
  /** of a project */
  fanOuts: 7_026_023,
  retention: 7_026_030,
  /** of a project */
  channelHosts: 7_026_042,
  /** of an id at the external relay */
  relaySources: 7_026_043,
  /** of a project */
  alertSilences: 7_026_049,
  /** of a team of a chat */
  chatTeams: 7_026_050,
} as const
