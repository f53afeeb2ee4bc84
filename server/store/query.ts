import {
  type Compilable,
  createQueryId,
  DummyDriver,
  Kysely,
  type RootOperationNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { SqliteTransaction } from './sqlite.ts'
import type { LogTables, MetricsTables } from './log-tables.ts'
import type { RequestTables } from './request-tables.ts'
import type { TraceTables } from './trace-tables.ts'
import type { Tables } from './tables.ts'

/** Builders of queries, which run nothing: of the main database, of the logs, of the metrics, of the request log, of the traces. */
export const tables = createBuilder<Tables>()
export const logTables = createBuilder<LogTables>()
export const metricsTables = createBuilder<MetricsTables>()
export const requestTables = createBuilder<RequestTables>()
export const traceTables = createBuilder<TraceTables>()

type Transaction = Pick<SqliteTransaction, 'statement'>
type Query<Row> = Compilable<Row> & { toOperationNode(): RootOperationNode }

/**
 * Three kinds of a query that is compiled once, at its first use. `build` describes it in terms of its parameters, whose values are not known yet:
 * it may only put them where a query has a value.
 */
export function all<Args extends unknown[], Row>(build: (...args: Args) => Query<Row>): (tx: Transaction, ...args: Args) => Row[] {
  const compiled = compileOnce(build)
  return (tx, ...args) => tx.statement(compiled().sql).all(...compiled().bind(args)) as Row[]
}

/** The first row, if there is one. */
export function first<Args extends unknown[], Row>(build: (...args: Args) => Query<Row>): (tx: Transaction, ...args: Args) => Row | undefined {
  const compiled = compileOnce(build)
  return (tx, ...args) => tx.statement(compiled().sql).get(...compiled().bind(args)) as Row | undefined
}

/** A change; returns the number of affected rows. */
export function run<Args extends unknown[]>(build: (...args: Args) => Query<unknown>): (tx: Transaction, ...args: Args) => number {
  const compiled = compileOnce(build)
  return (tx, ...args) => tx.statement(compiled().sql).run(...compiled().bind(args)).changes
}

/** The insert of a row with many columns, which is run for each of many rows. */
export function insert<Row extends object>(
  columns: readonly (keyof Row)[],
  build: (row: Row) => Query<unknown>,
): (tx: Transaction, row: Row) => void {
  let compiled: CompiledQuery | undefined
  const compileRow = () =>
    compileWith(columns.length, (placeholders) => build(Object.fromEntries(columns.map((name, i) => [name, placeholders[i]])) as Row))
  return (tx, row) => {
    compiled ??= compileRow()
    tx.statement(compiled.sql).run(...compiled.bind(columns.map((name) => row[name])))
  }
}

/** Whether there is a row. */
export function exists<Args extends unknown[]>(build: (...args: Args) => Query<unknown>): (tx: Transaction, ...args: Args) => boolean {
  const find = first(build)
  return (tx, ...args) => find(tx, ...args) !== undefined
}

interface CompiledQuery {
  sql: string
  /** The values in the order of the text. */
  bind(args: readonly unknown[]): readonly unknown[]
}

function compileOnce<Args extends unknown[]>(build: (...args: Args) => Query<unknown>): () => CompiledQuery {
  let compiled: CompiledQuery | undefined
  return () => (compiled ??= compile(build))
}

const compile = <Args extends unknown[]>(build: (...args: Args) => Query<unknown>): CompiledQuery =>
  compileWith(build.length, (placeholders) => build(...(placeholders as Args)))

function compileWith(count: number, build: (placeholders: unknown[]) => Query<unknown>): CompiledQuery {
  const placeholders: unknown[] = Array.from({ length: count }, (_, position) => new Placeholder(position))
  const { sql, parameters } = new ConstantCompiler().compileQuery(build(placeholders).toOperationNode(), createQueryId())
  const positions = parameters.map((parameter) => (parameter as Placeholder).position)
  const isInOrder = positions.length === count && positions.every((position, i) => position === i)
  return { sql, bind: (args) => (isInOrder ? args : positions.map((position) => args[position])) }
}

class Placeholder {
  readonly position: number
  constructor(position: number) {
    this.position = position
  }
}

/** Writes constants into the text, because SQLite uses a partial index only for a condition that it knows when it prepares the statement. */
class ConstantCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Placeholder) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

function createBuilder<T>(): Kysely<T> {
  return new Kysely<T>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
}
