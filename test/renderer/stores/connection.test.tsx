import { expect, test } from 'vitest'
import { localConnection, useConnection } from '../../../renderer/stores/connection.ts'
import type { Remote } from '../../../server/contract/remotes.ts'

const remote: Remote = {
  id: 'rem_1',
  name: 'Office',
  origin: 'https://a.example.com',
  hue: 20,
  is_signed_in: true,
  keeps_token: 'session',
  created_at: '2026-01-31T12:00:00.000Z',
}
const setRemotes = (...remotes: Remote[]) => {
  useConnection.getState().setRemotes(remotes)
  return useConnection.getState().connections.find(({ id }) => id === 'rem_1')
}

test('a renamed instance keeps its data, one at another address does not', () => {
  setRemotes(remote)?.cache.setQueryData(['a'], 1)
  const renamed = setRemotes({ ...remote, name: 'Home' })
  expect([renamed?.name, renamed?.cache.getQueryData(['a'])]).toEqual(['Home', 1])
  expect(setRemotes({ ...remote, origin: 'https://b.example.com' })?.cache.getQueryData(['a'])).toBeUndefined()
})

test('a removed instance loses its data', () => {
  const cache = setRemotes(remote)?.cache
  cache?.setQueryData(['a'], 1)
  localConnection.cache.setQueryData(['a'], 2)
  setRemotes()
  expect([cache?.getQueryData(['a']), localConnection.cache.getQueryData(['a'])]).toEqual([undefined, 2])
})

test('the address names the instance that is shown, once it is known', () => {
  const shown = () => {
    const { requested_id, current } = useConnection.getState()
    return [requested_id, current.id]
  }
  history.pushState(null, '', '/app/on/rem_1/projects')
  dispatchEvent(new Event('pushState'))
  expect(shown()).toEqual(['rem_1', 'local'])
  setRemotes(remote)
  expect(shown()).toEqual(['rem_1', 'rem_1'])
})

test('a refused token is remembered once, until there is another', () => {
  const { rejectToken, clearRejection } = useConnection.getState()
  for (const id of ['rem_1', 'rem_1', 'rem_2']) rejectToken(id)
  expect(useConnection.getState().rejected_ids).toEqual(['rem_1', 'rem_2'])
  clearRejection('rem_1')
  expect(useConnection.getState().rejected_ids).toEqual(['rem_2'])
})
