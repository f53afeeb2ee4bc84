import type { DockerEngine } from '../docker/engine.ts'
import { getStatusCode } from '../docker/errors.ts'
import { systemClock, withTimeout } from '../../lib/clock.ts'
import { requireManager } from './cluster.ts'

/** A manager whose cluster has lost its leader answers late. */
const timeout_ms = 4_000
const label = 'homeport.lease'

/**
 * A record in the swarm, as a label of a config: an update succeeds only for the version that it read. Used for the lease of the instance (see
 * `maintenance/standby`). Calls reject if the managers do not agree in time.
 */
export function createSwarmRecord<Content extends object>(engine: DockerEngine) {
  const { clock = systemClock } = engine.options
  const name = engine.createName('lease')
  const labelsOf = (record: Content) => ({ ...engine.createLabels('lease'), [label]: JSON.stringify(record) })

  const inTime = async <T>(work: () => Promise<T>): Promise<T> => {
    const result = await withTimeout(
      clock,
      timeout_ms,
      work().then((value) => ({ value })),
    )
    if (!result) throw new Error('The managers of the swarm did not answer in time.')
    return result.value
  }
  const find = async () => {
    const { docker } = await requireManager(engine)
    // The filter also finds names that begin so.
    const found = (await docker.listConfigs({ filters: JSON.stringify({ name: [name] }) })).find(({ Spec }) => Spec?.Name === name)
    return { docker, found }
  }

  return {
    read: () =>
      inTime(async () => {
        const { found } = await find()
        const text = found?.Spec?.Labels?.[label]
        return text === undefined ? undefined : { record: JSON.parse(text) as Content, version: found?.Version?.Index ?? 0 }
      }),
    create: (record: Content) =>
      inTime(async () => {
        const { docker } = await find()
        return docker
          .createConfig({ Name: name, Labels: labelsOf(record), Data: Buffer.from('lease').toString('base64') })
          .then(() => true, isConflict)
      }),
    replace: (version: number, record: Content) =>
      inTime(async () => {
        const { docker, found } = await find()
        if (!found || found.Version?.Index !== version) return false
        return docker
          .getConfig(found.ID)
          .update({ version, Name: name, Labels: labelsOf(record), Data: found.Spec?.Data })
          .then(() => true, isConflict)
      }),
  }
}

/** 409: the name is taken. 500 with these words: the version is an earlier one. */
function isConflict(error: unknown): false {
  if (getStatusCode(error) === 409 || /update out of sequence/i.test(String(error))) return false
  throw error
}
