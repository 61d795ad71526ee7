// JSON has no enums: `Plain<T>` is T with each string enum as the texts of its members.

import type { Dashboard, Panel, RowPanel } from '@grafana/schema';
import type { Options as Stat } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type { Options as Table } from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type {
  FieldConfig as TimeSeriesField,
  Options as TimeSeries,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

type Plain<T> = T extends string
  ? `${T}`
  : T extends number | boolean | null | undefined
    ? T
    : T extends Array<infer Item>
      ? Array<Plain<Item>>
      : T extends object
        ? { [Name in keyof T]: Plain<T[Name]> }
        : T;

type Target = {
  refId: string;
  datasource: { type: 'prometheus'; uid: string };
  expr: string;
  legendFormat: string;
  editorMode: 'code' | 'builder';
  range: boolean;
  instant: boolean;
  format: 'time_series' | 'table' | 'heatmap';
};

type Kind<Name extends string, Options, Field = Record<string, unknown>> = Omit<
  Plain<Panel<Options, Field>>,
  'type' | 'options' | 'targets'
> & { type: Name; options: Plain<Options>; targets: Target[] };

type AnyPanel =
  | Kind<'timeseries', TimeSeries, TimeSeriesField>
  | Kind<'stat', Stat>
  | Kind<'table', Table>;

export type PlainDashboard = Omit<Plain<Dashboard>, 'panels'> & {
  panels: Array<AnyPanel | (Omit<Plain<RowPanel>, 'panels'> & { panels: AnyPanel[] })>;
};
