import { type Call, type Command, help as usageOf, UsageError } from './command.ts'

const width = 88

/** `homeport help`: the guides of the dashboard's help, and how a command is used. A word may name one of each. */
export function createHelp(commands: Record<string, Command>, overview: () => string): Command {
  return {
    summary: 'Prints guides, and how a command is used.',
    forms: ['help', 'help TOPIC', 'help COMMAND'],
    options: {},
    async run(call) {
      // Loaded here, because no other command needs the texts.
      const [{ findTopic, searchTopics, shelves, topics }, { plainText }] = await Promise.all([
        import('../help/topics.ts'),
        import('../help/plain-text.ts'),
      ])
      const asked = call.words.join(' ')
      if (asked === '') {
        const lines = shelves.flatMap(({ heading, topics: some }) => ['', heading, ...some.map(({ id, title }) => `  ${id.padEnd(14)}${title}`)])
        return print(call, { topics: topics.map(({ id, title, about }) => ({ id, title, about })) }, [
          overview(),
          '',
          'homeport help TOPIC prints a guide:',
          ...lines,
        ])
      }
      const command = Object.hasOwn(commands, asked) ? commands[asked] : undefined
      const topic = findTopic(asked.replaceAll(' ', '-'))
      const usage = command && usageOf(asked, command)
      const text = topic && plainText(topic, width)
      if (text !== undefined || usage !== undefined) {
        const parts = [text, usage].filter((part) => part !== undefined)
        return print(call, { topic: topic ? { id: topic.id, title: topic.title, text } : null, usage: usage ?? null }, [
          parts.join(`\n\n${'-'.repeat(width)}\n`),
        ])
      }
      const near = searchTopics(asked)
      if (near.length === 0) throw new UsageError(`There is no guide and no command “${asked}”. homeport help lists them.`)
      return print(call, { topics: near.map(({ id, title, about }) => ({ id, title, about })) }, [
        `Guides that mention “${asked}”:`,
        ...near.map(({ id, title }) => `  ${id.padEnd(14)}${title}`),
      ])
    },
  }
}

function print({ json, terminal }: Call, value: object, lines: string[]): number {
  terminal.out(json ? JSON.stringify(value) : lines.join('\n'))
  return 0
}
