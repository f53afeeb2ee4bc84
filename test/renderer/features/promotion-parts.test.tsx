import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { PromotedPartsFields } from '../../../renderer/features/promotion/parts-fields.tsx'
import { noData, type PartChoice, type PartOffer } from '../../../server/client/promotion/parts.ts'
import { renderPart } from '../../support/dashboard.tsx'

const names = { from: 'Laptop', to: 'Server' }
const nothing: PartOffer = { services: [], catches_mail: false, has_database: false, volumes: [], database: null, dumps: [], unsupported: [] }
function openParts(own: Partial<PartOffer>, choice: Partial<PartChoice> = {}) {
  const onChoose = vi.fn<(choice: PartChoice) => void>()
  const part = renderPart(<PromotedPartsFields offer={{ ...nothing, ...own }} names={names} choice={{ ...noData, ...choice }} onChoose={onChoose} />)
  return { ...part, chosen: () => onChoose.mock.lastCall?.[0] }
}
const checkbox = (name: string | RegExp) => screen.getByRole<HTMLInputElement>('checkbox', { name })
const about = 'Services and data'
const copied = 'Data is copied only if you select it. The project on Laptop pauses while a volume is read.'
const volumes = [{ name: 'uploads', size_bytes: 2000, target_bytes: 1000 }]
const replace = 'It is kept unless you replace it. Replace data on Server A snapshot or a dump of the current data is taken first.'
test.each<[string, Partial<PartOffer>, Partial<PartChoice>, string]>([
  ['none', {}, {}, ''],
  [
    'services',
    { services: ['redis'], has_database: true, catches_mail: true },
    {},
    `${about} Added on Server before the deployment: Redis, PostgreSQL, the mail catcher.`,
  ],
  ['a mail catcher', { catches_mail: true }, {}, `${about} Added on Server before the deployment: the mail catcher.`],
  ['unsupported ones', { unsupported: ['Redis', 'the volume uploads'] }, {}, `${about} Not available on Server: Redis, the volume uploads.`],
  ['a volume', { volumes }, {}, `${about} ${copied} Volume uploads 2 kB`],
  [
    'a chosen volume that has data there',
    { volumes },
    { volumes: new Set(['uploads']) },
    `${about} ${copied} Volume uploads 2 kB Server has data in the volume uploads. ${replace}`,
  ],
  [
    'a chosen volume that has no data there',
    { volumes: [{ name: 'uploads', size_bytes: null, target_bytes: null }] },
    { volumes: new Set(['uploads']) },
    `${about} ${copied} Volume uploads`,
  ],
  ['a database', { database: { size_bytes: 2000, is_new: false } }, {}, `${about} ${copied} Data of the PostgreSQL database 2 kB`],
  [
    'a chosen database that exists there',
    { database: { size_bytes: null, is_new: false } },
    { copies_database: true },
    `${about} ${copied} Data of the PostgreSQL database Server has data in the PostgreSQL database. ${replace}`,
  ],
  [
    'a chosen database that is new there',
    { database: { size_bytes: null, is_new: true } },
    { copies_database: true },
    `${about} ${copied} Data of the PostgreSQL database`,
  ],
  [
    'a chosen service that exists there',
    { dumps: [{ service: 'mariadb', is_new: false }] },
    { copied_services: new Set(['mariadb']) },
    `${about} ${copied} Data of MariaDB Server has data in MariaDB. ${replace}`,
  ],
  [
    'a chosen service that is new there',
    { dumps: [{ service: 'mariadb', is_new: true }] },
    { copied_services: new Set(['mariadb']) },
    `${about} ${copied} Data of MariaDB`,
  ],
])('services and data: %s', (_, offer, choice, expected) => expect(openParts(offer, choice).text()).toBe(expected))

test.each<[string, Partial<PartChoice>, Partial<PartChoice>]>([
  ['Volume uploads 2 kB', {}, { volumes: new Set(['uploads']) }],
  ['Volume uploads 2 kB', { volumes: new Set(['uploads', 'b']) }, { volumes: new Set(['b']) }],
  ['Data of the PostgreSQL database', {}, { copies_database: true }],
  ['Data of the PostgreSQL database', { copies_database: true }, { copies_database: false }],
  ['Data of MariaDB', {}, { copied_services: new Set(['mariadb']) }],
  ['Replace data on Server', { copies_database: true }, { copies_database: true, replaces_data: true }],
  ['Replace data on Server', { copies_database: true, replaces_data: true }, { copies_database: true, replaces_data: false }],
])('%s is switched from %j', async (name, before, after) => {
  const offer: Partial<PartOffer> = { volumes, database: { size_bytes: null, is_new: false }, dumps: [{ service: 'mariadb', is_new: false }] }
  const { user, chosen } = openParts(offer, before)
  await user.click(checkbox(name))
  expect(chosen()).toEqual({ ...noData, ...after })
})
