import { expect, test } from 'vitest'
import { helpTopics } from '../../server/contract/help.ts'
import { readBlockText, topics } from '../../server/help/topics.ts'
import { runCommand } from '../support/command.ts'

const help = (...words: string[]) => runCommand({ api_url: 'http://127.0.0.1:1', token: undefined }, '/', ['help', ...words])

test('help lists commands and guides', async () => {
  const { code, out } = await help()
  expect(code).toBe(0)
  for (const name of ['deploy', 'doctor', ...helpTopics]) expect(out).toMatch(new RegExp(`^ {2}${name} `, 'm'))
})

test.each(topics)('help $id prints the whole guide, without markup, wrapped to the width', async (topic) => {
  const { code, out, err } = await help(topic.id)
  expect([code, err]).toEqual([0, ''])
  const said = (text: string) => text.replaceAll(/\s+/g, ' ')
  for (const block of topic.body)
    for (const line of readBlockText(block).split('\n'))
      for (const words of line.split(/\*\*|\[\[[^\]]*\]\]/).filter((part) => !/^\s*$/.test(part)))
        if (typeof block === 'string') expect(said(out)).toContain(said(words).trim())
  expect(out).not.toMatch(/\*\*|\[\[|\]\]/)
  const guide = out.split('\n---')[0]!
  for (const line of guide.split('\n')) if (line.includes(' ') && !line.startsWith('    ')) expect(line.length).toBeLessThanOrEqual(88)
})

test('consecutive commands are one block, and a link in brackets is only the command that prints its guide', async () => {
  const { out } = await help('previews')
  expect(out).toMatch(/fork my-app search\n.*--from other.*\n.*--remove/)
  expect(out.replaceAll(/\s+/g, ' ')).toContain('(homeport help project-settings)')
  expect(out).not.toContain('(Project settings')
})

test('help COMMAND prints its usage, and the guide too if one has that name', async () => {
  expect((await help('doctor')).out).toContain('Usage:\n  homeport doctor')
  const { out } = await help('tokens')
  expect(out).toMatch(/Signing in, tokens and limits[\s\S]+Usage:\n {2}homeport tokens/)
})

test('help searches the guides, and says when nothing matches', async () => {
  expect((await help('health', 'check')).out).toContain('`PORT`')
  expect((await help('colima')).out).toContain('engine')
  const { code, err } = await help('zeppelin')
  expect(code).toBe(2)
  expect(err).toContain('There is no guide or command “zeppelin”. homeport help lists them.')
})

test('--json prints one document', async () => {
  const { out } = await help('sleep', '--json')
  expect(JSON.parse(out)).toMatchObject({
    topic: { id: 'sleep', title: 'Sleeping apps and cold starts', text: expect.stringContaining('WebSocket') },
    usage: null,
  })
})
