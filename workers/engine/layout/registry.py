"""The layout and measure functions by kind of block."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.layout.blocks.columns import (
    lay_out_container,
    measure_break,
    measure_container,
)
from workers.engine.layout.charts.element import lay_out_chart, measure_chart
from workers.engine.layout.context import LayoutFunction, MeasureFunction
from workers.engine.layout.elements import (
    contents,
    figures,
    forms,
    grids,
    lists,
    page_feet,
    rows,
    text,
)
from workers.engine.layout.elements.tables.layout import lay_out_table, measure_table
from workers.engine.tree.nodes import (
    Barcode,
    Break,
    Chart,
    Container,
    Contents,
    FormField,
    Grid,
    Image,
    Index,
    ListBlock,
    ListItem,
    Note,
    PageFoot,
    Paragraph,
    Row,
    Rule,
    Table,
)

LAYOUTS: Final[Mapping[type, LayoutFunction]] = MappingProxyType(
    {
        Paragraph: text.lay_out_paragraph,
        Rule: text.lay_out_rule,
        Container: lay_out_container,
        PageFoot: page_feet.lay_out_foot,
        Row: rows.lay_out_row,
        Grid: grids.lay_out_grid,
        ListBlock: lists.lay_out_list,
        ListItem: lists.lay_out_item,
        Image: figures.lay_out_image,
        Barcode: figures.lay_out_barcode,
        Chart: lay_out_chart,
        FormField: forms.lay_out_field,
        Table: lay_out_table,
        Contents: contents.lay_out_contents,
        Index: contents.lay_out_contents,
        Note: lists.lay_out_note,
    }
)

MEASURES: Final[Mapping[type, MeasureFunction]] = MappingProxyType(
    {
        Paragraph: text.measure_paragraph,
        Rule: text.measure_rule,
        Container: measure_container,
        PageFoot: page_feet.measure_foot,
        Row: rows.measure_row,
        Grid: grids.measure_grid,
        Break: measure_break,
        ListBlock: lists.measure_list,
        ListItem: lists.measure_item,
        Image: figures.measure_image,
        Barcode: figures.measure_barcode,
        Chart: measure_chart,
        FormField: forms.measure_field,
        Table: measure_table,
        Contents: contents.measure_contents,
        Index: contents.measure_contents,
        Note: lists.measure_note,
    }
)
