import { type CommandContext, type CliCommand, formatCommandHelp, UsageError } from './command.ts'

const columns = 88

/** `homeport help`: prints help topics and the usage of commands. A word may name both. */
export function createHelpCommand(commands: Record<string, CliCommand>, formatOverview: () => string): CliCommand {
  return {
    summary: 'Prints guides and the usage of commands.',
    usage: ['help', 'help TOPIC', 'help COMMAND'],
    options: {},
    async run(context) {
      // Imported here, because only this command needs the texts.
      const [{ findTopic, searchTopics, topicSections, topics }, { formatPlainText }] = await Promise.all([
        import('../help/topics.ts'),
        import('../help/plain-text.ts'),
      ])
      const query = context.positionals.join(' ')
      if (query === '') {
        const lines = topicSections.flatMap(({ heading, topics: articles }) => [
          '',
          heading,
          ...articles.map(({ id, title }) => `  ${id.padEnd(18)}${title}`),
        ])
        return printResult(context, { topics: topics.map(({ id, title, summary }) => ({ id, title, about: summary })) }, [
          formatOverview(),
          '',
          'homeport help TOPIC prints a guide:',
          ...lines,
        ])
      }
      const command = Object.hasOwn(commands, query) ? commands[query] : undefined
      const topic = findTopic(query.replaceAll(' ', '-'))
      const usage = command && formatCommandHelp(query, command)
      const text = topic && formatPlainText(topic, columns)
      if (text !== undefined || usage !== undefined) {
        const parts = [text, usage].filter((part) => part !== undefined)
        return printResult(context, { topic: topic ? { id: topic.id, title: topic.title, text } : null, usage: usage ?? null }, [
          parts.join(`\n\n${'-'.repeat(columns)}\n`),
        ])
      }
      const matches = searchTopics(query)
      if (matches.length === 0) throw new UsageError(`There is no guide or command “${query}”. homeport help lists them.`)
      return printResult(context, { topics: matches.map(({ id, title, summary }) => ({ id, title, about: summary })) }, [
        `Guides that mention “${query}”:`,
        ...matches.map(({ id, title }) => `  ${id.padEnd(18)}${title}`),
      ])
    },
  }
}

function printResult({ is_json: json, terminal }: CommandContext, value: object, lines: string[]): number {
  terminal.out(json ? JSON.stringify(value) : lines.join('\n'))
  return 0
}
